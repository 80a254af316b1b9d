import { Code, ConnectError } from "@connectrpc/connect";
import { freePort } from "@toolgate/local-servers/ports";
import { expect, test } from "vitest";
import { startToolRunnerRig } from "../tool-runner-rig.ts";

test("[ERR-18] while the sandbox is down, a call fails as one of the platform, not as one too many", async () => {
  const remote = { urls: `http://127.0.0.1:${await freePort()}`, token: "a-token-of-tests-with-enough-characters" };
  await using runner = await startToolRunnerRig({
    config: { sandbox: { processes: 8, remote, requireIsolation: false } },
  });
  await runner.saveTool("handled", { external_api: true, handler: "export default () => ({});" });
  const error = await runner.call({ tool: "handled" }).catch((reason: unknown) => ConnectError.from(reason));
  expect(error).toMatchObject({ code: Code.Aborted });
});
