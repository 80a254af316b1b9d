import { parsePointer } from "./json-pointer.ts";
import { type ArgumentSource, PAYLOAD } from "./mapping.ts";

/** An argument that a tool declares; the type is empty when it declares none or several. */
export interface DeclaredArgument {
  name: string;
  type: string;
}

const MAX_POINTERS = 100;
const MAX_NAME_CHARACTERS = 200;
const MAX_POINTER_CHARACTERS = 1_000;
const SHOWN_CHARACTERS = 80;
/** Postgres cannot store it. */
const NUL = "\0";

/** [IN-40] The default of a hook without `arguments`: the whole body for a tool that takes it as `payload`, else its fields. */
export function defaultArguments(declared: readonly DeclaredArgument[]): ArgumentSource {
  return { from: takesPayload(declared) ? "payload" : "fields", pointers: {} };
}

/**
 * Which rule a hook's arguments break; undefined if none. [IN-7] [IN-40]
 * @param declared what the target tool declares; undefined for an assistant, which takes anything
 */
export function argumentsViolation(
  { from, pointers }: ArgumentSource,
  declared: readonly DeclaredArgument[] | undefined,
): string | undefined {
  const names = Object.keys(pointers);
  if (from === "mapping" && names.length === 0) return "arguments: a mapping names at least one argument";
  if (names.length > MAX_POINTERS) return `arguments: at most ${MAX_POINTERS} pointers`;
  for (const name of names) {
    const violation = nameViolation(name, declared) ?? pointerViolation(pointers[name] ?? "");
    if (violation !== undefined) return `arguments: ${JSON.stringify(name.slice(0, SHOWN_CHARACTERS))} ${violation}`;
  }
  if (from === "payload" && declared && !takesPayload(declared)) {
    return "arguments: the tool does not declare an argument payload of type object";
  }
  return undefined;
}

function nameViolation(name: string, declared: readonly DeclaredArgument[] | undefined): string | undefined {
  if (name === "" || name.length > MAX_NAME_CHARACTERS || name.includes(NUL))
    return `is not a name of 1 to ${MAX_NAME_CHARACTERS} characters`;
  // [IN-68] Names with an underscore are set by the server only.
  if (name.startsWith("_")) return "begins with an underscore";
  if (declared && !declared.some((argument) => argument.name === name)) return "is not declared by the tool";
  return undefined;
}

function pointerViolation(pointer: string): string | undefined {
  if (pointer.length > MAX_POINTER_CHARACTERS) return `has a pointer of more than ${MAX_POINTER_CHARACTERS} characters`;
  if (pointer.includes(NUL)) return "has a pointer with NUL";
  return parsePointer(pointer) ? undefined : "needs a JSON Pointer, such as /order/id";
}

function takesPayload(declared: readonly DeclaredArgument[]): boolean {
  return declared.some(({ name, type }) => name === PAYLOAD && type === "object");
}
