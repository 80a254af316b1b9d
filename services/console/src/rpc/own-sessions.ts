import { loginAgain, renewToken, sessionStore } from "./session.ts";

/** A session of the user, as GET /sessions describes it. */
export interface OwnSession {
  id: string;
  kind: "session" | "jwt";
  device: string;
  address: string;
  started_at: string;
  last_used_at: string;
  is_current: boolean;
}

const SAID: Readonly<Record<number, string>> = {
  400: "The new password must have 8 to 1000 characters.",
  404: "That session has ended already.",
  429: "Too many attempts. Try again later.",
};

/** Calls the gateway for the user's own account. As with management RPCs, it is made again after a login. */
async function call(method: string, path: string, body?: object): Promise<Response> {
  const send = () =>
    fetch(path, {
      method,
      headers: { "content-type": "application/json", "x-csrf-token": sessionStore.get()?.csrf_token ?? "" },
      body: body ? JSON.stringify(body) : null,
    });
  const session = sessionStore.get();
  let response = await send();
  if (response.status === 401 && (await isOver())) {
    await loginAgain(session);
    response = await send();
  }
  if (response.status === 403 && (await renewToken())) response = await send();
  if (response.ok) return response;
  if (response.status === 401) throw new Error("The current password is wrong.");
  throw new Error(SAID[response.status] ?? `Toolgate answered with status ${response.status}.`);
}

/** A wrong password gets a 401 too. */
async function isOver(): Promise<boolean> {
  return !(await fetch("/session")).ok;
}

export async function listOwnSessions(): Promise<OwnSession[]> {
  const { sessions } = await (await call("GET", "/sessions")).json();
  return sessions;
}

export function endOwnSession(id: string): Promise<unknown> {
  return call("DELETE", `/sessions/${id}`);
}

export function endOtherSessions(): Promise<unknown> {
  return call("DELETE", "/sessions");
}

export function changePassword(current: string, next: string): Promise<unknown> {
  return call("POST", "/session/password", { current_password: current, new_password: next });
}
