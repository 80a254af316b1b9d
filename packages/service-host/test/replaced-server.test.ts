import { createClient } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { rpcRig, transportTo } from "./rpc-rig.ts";

const CALLERS = 20;
/** Of all callers, between two changes. */
const CALLS = 400;

const named = (name: string) => rpcRig((router) => router.service(SessionService, { login: () => ({ token: name }) }));

test("calls take turns between the servers that are up, and none fails while one of two stops under load", async () => {
  await using staying = await named("staying");
  const stopping = await named("stopping");
  const client = createClient(SessionService, transportTo(`${stopping.baseUrl},${staying.baseUrl}`));
  const served: Record<string, number> = { staying: 0, stopping: 0 };
  const failures: unknown[] = [];
  let isOver = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      try {
        const { token } = await client.login({});
        served[token] = (served[token] ?? 0) + 1;
      } catch (error) {
        failures.push(error);
      }
      await new Promise(setImmediate);
    }
  });
  const more = (name: string) => {
    const before = served[name] ?? 0;
    return eventually(() => (served[name] ?? 0) >= before + CALLS);
  };
  await Promise.all([more("staying"), more("stopping")]);
  await stopping[Symbol.asyncDispose]();
  await more("staying");
  isOver = true;
  await Promise.all(callers);
  expect(failures).toEqual([]);
});
