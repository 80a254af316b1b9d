import { pause } from "@toolgate/service-host/every";
import { sign } from "@toolgate/webhook-signing/sign";
import { type ChatAnswer, readAnswer } from "./answers.ts";
import { EVENT_OF, type Work } from "./work.ts";

/** What the clients of a load have seen. */
export interface Load {
  /** Completed work by kind. */
  readonly done: Readonly<Record<Kind, number>>;
  /** What went wrong, in words. */
  readonly failures: readonly string[];
  /** Every event that must arrive, as type and number: its call had a success. */
  readonly expected: ReadonlySet<string>;
  readonly answers: readonly ChatAnswer[];
  /** Resolves when the work under way has ended. */
  stop(): Promise<void>;
}

export type Kind = "call" | "repeated call" | "hook call" | "answer" | "resumed answer" | "management";

/** Clients of each kind, in a closed loop, and the pause between two of their requests: well below what the machine can do. */
const CLIENTS: Readonly<Record<Kind, readonly [count: number, everyMs: number]>> = {
  call: [4, 250],
  "repeated call": [2, 400],
  "hook call": [2, 400],
  answer: [2, 300],
  "resumed answer": [1, 300],
  management: [1, 250],
};
const MANAGEMENT = [
  "key_auth.v1.KeyService/ListKeys",
  "tool_runner.v1.ToolService/ListTools",
  "outbound_webhook.v1.EndpointService/ListEndpoints",
  "outbound_webhook.v1.DeliveryService/ListDeliveries",
  "inbound_hook.v1.HookService/ListHooks",
  "chat.v1.AssistantService/ListAssistants",
];
const TIMEOUT_MS = 60_000;

export function startLoad(work: Work): Load {
  const done = Object.fromEntries(Object.keys(CLIENTS).map((kind) => [kind, 0])) as Record<Kind, number>;
  const failures: string[] = [];
  const expected = new Set<string>();
  const answers: ChatAnswer[] = [];
  const stopping = new AbortController();
  let last = 0;
  const attempts: Record<Kind, (n: number) => Promise<void>> = {
    call: async (n) => {
      const tool = n % 2 === 0 ? "emitter" : "reported";
      await callTool(work, tool, n);
      expected.add(`${EVENT_OF[tool]} ${n}`);
    },
    "repeated call": async (n) => {
      const first = await callTool(work, "emitter", n, `key-${n}`);
      expected.add(`${EVENT_OF.emitter} ${n}`);
      const again = await callTool(work, "emitter", n, `key-${n}`);
      if (first.text !== again.text) throw new Error(`the repeat got another response: ${again.text}`);
      if (again.replayed !== "true") throw new Error("the repeat ran again");
    },
    "hook call": async (n) => {
      await callHook(work, n);
      expected.add(`${EVENT_OF.hooked} ${n}`);
    },
    answer: async (n) => void answers.push(await readAnswer(work, `chat-${n}`)),
    "resumed answer": async (n) => void answers.push(await readAnswer(work, `chat-${n}`, { cutAfterEvents: 5 })),
    management: async (n) => void (await work.manage(MANAGEMENT[n % MANAGEMENT.length] ?? "", {})),
  };
  async function client(kind: Kind, everyMs: number): Promise<void> {
    while (!stopping.signal.aborted) {
      last += 1;
      const n = last;
      const startedAt = new Date().toISOString();
      await attempts[kind](n).then(
        () => {
          done[kind] += 1;
        },
        (error: unknown) =>
          failures.push(`${startedAt} to ${new Date().toISOString()} ${kind} ${n}: ${inWords(error)}`),
      );
      await pause(everyMs, stopping.signal);
    }
  }
  const clients = Object.entries(CLIENTS).flatMap(([kind, [count, everyMs]]) =>
    Array.from({ length: count }, () => client(kind as Kind, everyMs)),
  );
  return {
    done,
    failures,
    expected,
    answers,
    async stop() {
      stopping.abort();
      await Promise.all(clients);
    },
  };
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

function inWords(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
