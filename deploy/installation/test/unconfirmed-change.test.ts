import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { runToolgate } from "./running-toolgate.ts";

test.each(["single", "split"] as const)(
  "[KEY-21] %s: a revocation that could not be announced says that it is stored and must be repeated",
  async (topology) => {
    await using toolgate = await runToolgate(topology);
    await toolgate.saveTool("echo", { external_api: true, handler: "export default () => ({});" });
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
    const revoke = () => toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: id });
    await toolgate.redis.kill();
    await expect(revoke()).rejects.toThrow("done, but not confirmed everywhere yet: repeat the call");
    expect((await toolgate.call("echo", secret)).status).toBe(401);
    await toolgate.redis.restart();
    await eventually(async () => {
      await revoke();
      return true;
    });
  },
);
