import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { codeOf, runKeyAuth } from "./running-key-auth.ts";

const ADMIN = fileURLToPath(new URL("../src/admin.ts", import.meta.url));

async function admin(args: string[], variables: Record<string, string>, input: string) {
  const env = { ...variables, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
  const child = spawn(process.execPath, [ADMIN, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(input);
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code, output, errors };
}

test("[MGMT-4] admin.ts reads the password from standard input, prints one line, and exits with 1 on failure", async () => {
  await using keyAuth = await runKeyAuth();
  const { databaseUrl, redisUrl } = keyAuth.servers;
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  const user = { email: "new@example.test", password: "a long password" };
  expect(await admin(["user", "create", user.email], env, `${user.password}\n`)).toMatchObject({
    code: 0,
    output: expect.stringContaining("created"),
    errors: "",
  });
  expect(await codeOf(keyAuth.sessions().login(user))).toBeUndefined();
  const [again, unknown, withoutDatabase] = await Promise.all([
    admin(["user", "create", user.email], env, user.password),
    admin([], {}, ""),
    admin(["workspace", "list"], {}, ""),
  ]);
  expect(again).toMatchObject({ code: 1, output: "" });
  expect(unknown.errors).toContain("Usage");
  expect(withoutDatabase.errors).toContain("DATABASE_URL is missing");
});
