import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";
import { isPortFree, openPorts } from "./ports.ts";

const newFile = async () => join(await temporaryFolder(), "ports.json");

async function occupy(port: number): Promise<Disposable> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { [Symbol.dispose]: () => server.close() };
}

test("a server has the same port at its next start, and every server another", async () => {
  const file = await newFile();
  const book = openPorts(file);
  const ports = [await book.take("a"), await book.take("b"), await book.take("c")];
  expect(new Set(ports).size).toBe(3);
  const next = openPorts(file);
  expect([await next.take("a"), await next.take("b"), await next.take("c")]).toEqual(ports);
});

test("a reserved port is never taken, not even when it is remembered", async () => {
  const file = await newFile();
  const reserved = await openPorts(file).take("a");
  const book = openPorts(file, [reserved]);
  expect(await book.take("a")).not.toBe(reserved);
  expect(await openPorts(file).take("a")).not.toBe(reserved);
});

test("a port that is taken or was forgotten is replaced, and the new one remembered", async () => {
  const file = await newFile();
  const first = await openPorts(file).take("a");
  using _taken = await occupy(first);
  expect(await isPortFree(first)).toBe(false);
  const book = openPorts(file);
  const second = await book.take("a");
  expect(second).not.toBe(first);
  expect(await openPorts(file).take("a")).toBe(second);
  book.forget("a");
  expect(await book.take("a")).not.toBe(second);
});

test.each(["", "{", '{"a":80}', '{"a":"x"}', "[]"])(
  "a damaged file (%j) costs only the remembered ports",
  async (text) => {
    const file = await newFile();
    await writeFile(file, text);
    const port = await openPorts(file).take("a");
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(30_000);
  },
);
