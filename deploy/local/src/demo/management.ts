/** Calls management RPCs as a logged-in user: JSON over POST. */
export type Management = <Answer>(rpc: string, request: Record<string, unknown>) => Promise<Answer>;

const TIMEOUT_MS = 15_000;

/** Logs in; every call names the workspace. Undefined when the password is not accepted. */
export async function loginTo(
  baseUrl: string,
  account: { workspace: string; email: string; password: string },
): Promise<Management | undefined> {
  const { workspace, email, password } = account;
  const answer = await post(baseUrl, "key_auth.v1.SessionService/Login", { email, password });
  if (answer.status === 401) return undefined;
  const { token } = await jsonOf<{ token: string }>(answer);
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

async function jsonOf<Answer>(response: Response): Promise<Answer> {
  if (!response.ok)
    throw new Error(`${new URL(response.url).pathname} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}
