import { once } from "node:events";
import { createServer } from "node:net";
import { freePort } from "@toolgate/local-servers/ports";
import { expect, test } from "vitest";
import { runToolgate } from "./running-toolgate.ts";

test("services start again on other ports when another program takes one of theirs", async () => {
  const port = await freePort();
  const thief = createServer().listen(port, "127.0.0.1");
  await once(thief, "listening");
  const lines: string[] = [];
  await using toolgate = await runToolgate("split", {
    port,
    log(line) {
      lines.push(line);
      if (line.startsWith("a port was taken")) thief.close();
    },
  });
  expect(toolgate.baseUrl).toBe(`http://127.0.0.1:${port}`);
  expect(lines.filter((line) => line.startsWith("a port was taken"))).toHaveLength(1);
  await toolgate.saveTool("echo", { external_api: true, handler: "export default async (args) => args;" });
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
  expect((await toolgate.call("echo", secret)).status).toBe(200);
});
