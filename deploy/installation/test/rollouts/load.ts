import { sign } from "@toolgate/webhook-signing/sign";
import { type Load, startLoad } from "../load.ts";
import { type ChatAnswer, readAnswer } from "./answers.ts";
import { EVENT_OF, type Work } from "./work.ts";

/** Everything that an installation is used for, at the same time. Stops at the latest when it is disposed of. */
export interface WorkLoad extends AsyncDisposable {
  load: Load;
  /** Every event that must arrive, as type and number: its call had a success. */
  expected: ReadonlySet<string>;
  answers: readonly ChatAnswer[];
}

const MANAGEMENT = [
  "key_auth.v1.KeyService/ListKeys",
  "tool_runner.v1.ToolService/ListTools",
  "outbound_webhook.v1.EndpointService/ListEndpoints",
  "outbound_webhook.v1.DeliveryService/ListDeliveries",
  "inbound_hook.v1.HookService/ListHooks",
  "chat.v1.AssistantService/ListAssistants",
];
const TIMEOUT_MS = 60_000;

/** Well below what the machine can do. */
export function startWork(work: Work): WorkLoad {
  const expected = new Set<string>();
  const answers: ChatAnswer[] = [];
  async function call(n: number): Promise<void> {
    const tool = n % 2 === 0 ? "emitter" : "reported";
    await callTool(work, tool, n);
    expected.add(`${EVENT_OF[tool]} ${n}`);
  }
  async function repeatedCall(n: number): Promise<void> {
    const first = await callTool(work, "emitter", n, `key-${n}`);
    expected.add(`${EVENT_OF.emitter} ${n}`);
    const again = await callTool(work, "emitter", n, `key-${n}`);
    if (first.text !== again.text) throw new Error(`the repeat got another response: ${again.text}`);
    if (again.replayed !== "true") throw new Error("the repeat ran again");
  }
  async function hookCall(n: number): Promise<void> {
    await callHook(work, n);
    expected.add(`${EVENT_OF.hooked} ${n}`);
  }
  const answer = async (n: number) => answers.push(await readAnswer(work, `chat-${n}`));
  const resumedAnswer = async (n: number) => answers.push(await readAnswer(work, `chat-${n}`, { cutAfterEvents: 5 }));
  const load = startLoad({
    call: { count: 4, restMs: 250, attempt: call },
    "repeated call": { count: 2, restMs: 400, attempt: repeatedCall },
    "hook call": { count: 2, restMs: 400, attempt: hookCall },
    answer: { count: 2, restMs: 300, attempt: answer },
    "resumed answer": { count: 1, restMs: 300, attempt: resumedAnswer },
    management: { count: 1, restMs: 250, attempt: (n) => work.manage(MANAGEMENT[n % MANAGEMENT.length] ?? "", {}) },
  });
  return { load, expected, answers, [Symbol.asyncDispose]: () => load.stop() };
}

async function callTool({ baseUrl, keySecret }: Work, tool: string, n: number, idempotencyKey?: string) {
  const response = await fetch(`${baseUrl}/api/v1/tools/${tool}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${keySecret}`,
      "content-type": "application/json",
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    },
    body: JSON.stringify({ args: { n } }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.status !== 200 || JSON.parse(text).n !== n) throw new Error(`${tool}: ${response.status} ${text}`);
  return { text, replayed: response.headers.get("idempotency-replayed") };
}

async function callHook({ baseUrl, hook }: Work, n: number): Promise<void> {
  const body = JSON.stringify({ n });
  const signature = sign(hook.secret, Math.floor(Date.now() / 1_000), body);
  const response = await fetch(baseUrl + hook.path, {
    method: "POST",
    headers: { "x-service-signature": signature },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`hook: ${response.status} ${text}`);
}
