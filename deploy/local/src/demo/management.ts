/** Calls management RPCs as a logged-in user: JSON over POST. */
export type Management = <T>(rpc: string, request: Record<string, unknown>) => Promise<T>;

const TIMEOUT_MS = 15_000;

/** Logs in; every call names the workspace. Undefined when the password is not accepted. */
export async function loginTo(
  baseUrl: string,
  account: { workspace: string; email: string; password: string },
): Promise<Management | undefined> {
  const { workspace, email, password } = account;
  const response = await post(baseUrl, "key_auth.v1.SessionService/Login", { email, password });
  if (response.status === 401) return undefined;
  const { token } = await jsonOf<{ token: string }>(response);
  return async (rpc, request) => jsonOf(await post(baseUrl, rpc, { workspace, ...request }, token));
}

function post(baseUrl: string, rpc: string, body: Record<string, unknown>, token?: string): Promise<Response> {
  return fetch(`${baseUrl}/toolgate.${rpc}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

async function jsonOf<T>(response: Response): Promise<T> {
  if (!response.ok)
    throw new Error(`${new URL(response.url).pathname} responded with ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}
