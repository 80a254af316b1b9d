import { REMOVED } from "@toolgate/redaction/redactor";
import { isJsonObject } from "@toolgate/rules/json-object";
import { secretForms } from "./secret-forms.ts";
import { TextRemover } from "./text-remover.ts";

/** Bounds the work on one value: comparisons with forms of secrets, and characters compared. */
const MAX_STEPS = 5_000_000;

/** The secrets that a call has used. */
export class UsedSecrets {
  /** The forms of each; to find them takes far longer than to make a remover of them. */
  readonly #forms = new Map<string, readonly string[]>();
  #remover: TextRemover | undefined;

  add(value: string): void {
    if (this.#forms.has(value)) return;
    this.#forms.set(value, secretForms(value));
    this.#remover = undefined;
  }

  get remover(): TextRemover | undefined {
    if (this.#forms.size === 0) return undefined;
    this.#remover ??= new TextRemover(new Set([...this.#forms.values()].flat()));
    return this.#remover;
  }
}

/**
 * A copy of a value without the secrets that a run has used: in texts, names and numbers, in the forms of `secretForms`.
 * Other forms of a secret (hex, reversed, in pieces) are not found. The value itself if there are no secrets.
 */
export function removeSecrets<T>(value: T, { remover }: Pick<UsedSecrets, "remover">): T {
  return remover ? (withoutForms(value, remover, { steps: MAX_STEPS }) as T) : value;
}

function withoutForms(value: unknown, remover: TextRemover, budget: { steps: number }): unknown {
  if (typeof value === "string") return remover.removeFrom(value, budget);
  if (typeof value === "number") return remover.isUnwanted(String(value)) ? REMOVED : value;
  if (Array.isArray(value)) return value.map((item) => withoutForms(item, remover, budget));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    remover.removeFrom(name, budget),
    withoutForms(member, remover, budget),
  ]);
  return Object.fromEntries(members);
}
