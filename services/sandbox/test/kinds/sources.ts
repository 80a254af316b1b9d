const MAX_CHARS = 250_000;
const HANDLER = "export default () => 1;";

/** Joins parts, each with a number of its own, until the source is about as long as it may be. */
function fill(part: (name: string) => string): string {
  let text = "";
  for (let n = 0; text.length < MAX_CHARS; n += 1) text += part(n.toString(36));
  return text;
}

/** Handlers that harm nobody when they run, but take long to parse, check or compile. */
export const SLOW_SOURCES: Readonly<Record<string, string>> = {
  "declarations of one block": `${HANDLER}let ${fill((name) => `a${name},`)}z;`,
  "members of a destructured object": `${HANDLER}const {${fill((name) => `a${name}:b${name},`)}}={};`,
  "functions of one block": `${HANDLER}${fill((name) => `function a${name}(){}`)}`,
  "private names of a class": `${HANDLER}class A{${fill((name) => `#a${name};`)}}`,
  "classes of characters": `${HANDLER}const z=/[${"\\p{L}".repeat(MAX_CHARS / 5)}]/v;`,
  "many patterns": `${HANDLER}${fill(() => "/a{1,3}(b|c)*?/u;")}`,
  "parameters of a function": `${HANDLER}const z=(${fill((name) => `a${name},`)})=>1;`,
  "the name that the factory would choose": `${HANDLER}// $handler${"$".repeat(MAX_CHARS)}`,
  "digits of a number": `${HANDLER}const z=${"9".repeat(MAX_CHARS)}n;`,
  "levels of brackets": `${HANDLER}const z=${"[".repeat(MAX_CHARS / 2)}${"]".repeat(MAX_CHARS / 2)};`,
};
