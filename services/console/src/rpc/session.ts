/** A signed-in user, as GET /session describes them. The CSRF token opens nothing without the session's cookie. */
export interface Session {
  email: string;
  csrf_token: string;
  memberships: { workspace: string; role: "member" | "manager" | "admin" }[];
}

type Listener = () => void;

let session: Session | undefined;
let hasEnded = false;
let waiting: PromiseWithResolvers<void> | undefined;
const listeners = new Set<Listener>();

/** The one session of this page; components read it with `useSession`. */
export const sessionStore = {
  get: () => session,
  /** A call was refused because the session is over; the shell asks for the password over whatever is open. */
  hasEnded: () => hasEnded,
  subscribe(listener: Listener) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

function changed(next: Session | undefined, ended: boolean) {
  session = next;
  hasEnded = ended;
  for (const listener of listeners) listener();
}

/** Resolves once the user has logged in again, at once if that has happened since the refused call was sent, in `ofCall`. */
export async function loginAgain(ofCall: Session | undefined): Promise<void> {
  if (!hasEnded && session?.csrf_token !== ofCall?.csrf_token) return;
  waiting ??= Promise.withResolvers<void>();
  changed(session, true);
  return waiting.promise;
}

async function readSession(): Promise<Session | undefined> {
  const response = await fetch("/session");
  return response.ok ? response.json() : undefined;
}

/** The session of the cookie, or undefined. */
export async function loadSession(): Promise<Session | undefined> {
  changed(await readSession(), false);
  return session;
}

/**
 * Reads the session again, and says whether its token is another one now. Without an answer the page stays as it is, and one of
 * another user begins anew.
 */
export async function renewToken(): Promise<boolean> {
  const before = session;
  const now = await readSession().catch(() => undefined);
  if (!before || !now) return false;
  if (now.email !== before.email) {
    location.reload();
    return false;
  }
  changed(now, hasEnded);
  return now.csrf_token !== before.csrf_token;
}

/** Undefined after a login, otherwise what to tell the user. */
export async function logIn(email: string, password: string): Promise<string | undefined> {
  const response = await fetch("/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password }),
  }).catch(() => undefined);
  if (response === undefined) return "Toolgate cannot be reached. Try again.";
  if (response.status === 429) {
    const seconds = response.headers.get("retry-after");
    return `Too many attempts. Try again${seconds ? ` in ${seconds} seconds` : " later"}.`;
  }
  if (!response.ok) return response.status === 401 ? "Email or password is wrong." : "Toolgate could not log you in.";
  changed(await response.json(), false);
  waiting?.resolve();
  waiting = undefined;
  return undefined;
}

export async function logOut(): Promise<void> {
  const end = () => fetch("/session", { method: "DELETE", headers: { "x-csrf-token": session?.csrf_token ?? "" } });
  if ((await end()).status === 403 && (await renewToken())) await end();
  location.assign("/manage/login");
}
