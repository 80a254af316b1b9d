import type { Answer } from "./answers.ts";

/** An answer of /session. */
export function sessionAnswer(status: number, members: Record<string, unknown>): Answer {
  return { status, body: Buffer.from(JSON.stringify({ success: status < 400, ...members })) };
}

function refusal(status: number, error: string): Answer {
  return sessionAnswer(status, { error });
}

export const BAD_LOGIN_REQUEST = refusal(400, "Ungueltige Anfrage");
export const LOGIN_REQUIRED = refusal(401, "Anmeldung erforderlich");
export const LOGIN_REFUSED = refusal(401, "E-Mail oder Passwort falsch");
export const CSRF_TOKEN_MISSING = refusal(403, "CSRF-Token fehlt oder ist falsch");
export const SESSION_FAILED = refusal(500, "Interner Fehler");

/** `retryAfter`: seconds, as the service said. */
export function tooManyLogins(retryAfter: string | null): Answer {
  const answer = refusal(429, "Zu viele Anmeldeversuche");
  return retryAfter === null ? answer : { ...answer, headers: { "retry-after": retryAfter } };
}
