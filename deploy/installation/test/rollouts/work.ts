import { type ReadAnswer, readLikeEventSource } from "../load/answers.ts";
import { type Calls, recordCalls } from "../load/calls.ts";
import { type Load, startLoad } from "../load/load.ts";
import type { Rig } from "./rig.ts";

/** Everything that an installation is used for, at the same time. Stops at the latest when it is disposed of. */
export interface Work extends Calls, AsyncDisposable {
  load: Load;
  answers: readonly ReadAnswer[];
}

const MANAGEMENT = [
  "key_auth.v1.KeyService/ListKeys",
  "tool_runner.v1.ToolService/ListTools",
  "outbound_webhook.v1.EndpointService/ListEndpoints",
  "outbound_webhook.v1.DeliveryService/ListDeliveries",
  "inbound_hook.v1.HookService/ListHooks",
  "chat.v1.AssistantService/ListAssistants",
];
/** Of an answer that is read in many connections. */
const EVENTS_PER_CONNECTION = 5;

/** Well below what the machine can do. */
export function startWork({ toolgate, workspace, door }: Rig): Work {
  const client = recordCalls(toolgate, workspace);
  const answers: ReadAnswer[] = [];
  async function repeatedCall(n: number): Promise<void> {
    const headers = { "idempotency-key": `key-${n}` };
    const [first, again] = [await client.call(n, headers), await client.call(n, headers)];
    if (first.text !== again.text) throw new Error(`the repeat got another response: ${again.text}`);
    if (again.headers?.get("idempotency-replayed") !== "true") throw new Error("the repeat ran again");
  }
  const answer = async (n: number) => answers.push(await readLikeEventSource(door, n));
  const resumedAnswer = async (n: number) => answers.push(await readLikeEventSource(door, n, EVENTS_PER_CONNECTION));
  const load = startLoad({
    call: { count: 4, restMs: 250, attempt: (n) => client.call(n) },
    "repeated call": { count: 2, restMs: 400, attempt: repeatedCall },
    "hook call": { count: 2, restMs: 400, attempt: client.callHook },
    answer: { count: 2, restMs: 300, attempt: answer },
    "resumed answer": { count: 1, restMs: 300, attempt: resumedAnswer },
    management: { count: 1, restMs: 250, attempt: (n) => toolgate.manage(MANAGEMENT[n % MANAGEMENT.length] ?? "", {}) },
  });
  return { ...client, load, answers, [Symbol.asyncDispose]: () => load.stop() };
}
