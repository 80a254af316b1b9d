import { hasControlCharacters } from "@toolgate/rules/name";

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

/** Whether an account may have this email address. */
export function isEmail(text: string): boolean {
  return EMAIL.test(text) && !hasControlCharacters(text);
}
