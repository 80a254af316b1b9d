import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ECHO, expectUnauthenticated, type FrontDoor, openFrontDoor, shapeOf } from "./front-door.ts";
import { type RawResponse, sendRaw } from "./raw-http.ts";

const MIB = 1024 * 1024;

let door: FrontDoor;
beforeAll(async () => {
  door = await openFrontDoor();
});
afterAll(() => door[Symbol.asyncDispose]());

describe("keys", () => {
  const withHeaders = (headers: readonly (readonly [string, string])[], target = ECHO, body = "{}") =>
    sendRaw(door.toolgate.baseUrl, { target, headers, body });

  test("[ERR-3] [ERR-4] [ERR-5] [ERR-6] [ERR-10] anything but a valid key gets the same 401 as no key, byte for byte", async () => {
    const { secret } = door.key;
    const unknown = `${secret.slice(0, -49)}${"0".repeat(43)}${secret.slice(-6)}`;
    const values = [
      "",
      "Bearer",
      "Bearer ",
      "Bearer  ",
      `Basic ${secret}`,
      secret,
      `Bearer\t${secret}`,
      `Bearer${secret}`,
    ];
    values.push(
      `Bearer ${secret} ${secret}`,
      `Bearer ${secret},`,
      `Bearer "${secret}"`,
      `Bearer ${secret.toLowerCase()}`,
    );
    values.push(
      `Bearer ${secret}x`,
      `Bearer ${secret.slice(0, -1)}`,
      `Bearer ${unknown}`,
      "Bearer \u{1f511}",
      `Bearer ${" ".repeat(9_000)}x y`,
    );
    const shapes = [shapeOf((await withHeaders([])) as RawResponse)];
    for (const value of values) {
      const response = await withHeaders([["authorization", value]]);
      expectUnauthenticated(response);
      shapes.push(shapeOf(response as RawResponse));
    }
    for (const shape of shapes) expect(shape).toEqual(shapes[0]);
  });

  test("[TOOL] the scheme's case and blanks around the key do not matter", async () => {
    for (const scheme of ["bearer", "BEARER", "bEaReR"]) {
      expect(await withHeaders([["authorization", `${scheme}   ${door.key.secret}  `]])).toMatchObject({
        status: 200,
      });
    }
  });

  test("[ERR-6] two Authorization headers are refused, in either order", async () => {
    const good = door.bearer;
    const other = ["Authorization", "Bearer x"] as const;
    for (const headers of [
      [good, other],
      [other, good],
      [good, good],
    ])
      expectUnauthenticated(await withHeaders(headers));
  });

  test("[ERR-6] a key with wrong check digits is not even looked up", async () => {
    const { id, secret } = await door.toolgate.createKey({ name: "k", tools: ["echo"] });
    const wrong = `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`;
    const hash = createHash("sha256").update(wrong).digest();
    await door.toolgate.pool.query("update key_auth.keys set secret_hash = $2 where id = $1", [id, hash]);
    expectUnauthenticated(await withHeaders([["authorization", `Bearer ${wrong}`]]));
  });
});

describe("refusals", () => {
  test("[TOOL-20] [ERR-11] [ERR-12] every refusal has the same headers in the same order", async () => {
    const { saveTool, createKey, pool, account } = door.toolgate;
    const tool = { external_api: true, handler: "export default () => ({});" };
    const listed = ["unreleased", "made_async", "deleted", "locked"];
    for (const name of [...listed, "unlisted"]) await saveTool(name, tool);
    const { secret } = await createKey({ name: "k", tools: listed, limit: 10_000 });
    await saveTool("unreleased", { ...tool, external_api: false });
    await saveTool("made_async", { ...tool, async: true });
    await door.toolgate.manage("tool_runner.v1.ToolService/DeleteTool", { name: "deleted" });
    const shapes: ReturnType<typeof shapeOf>[] = [];
    const ask = async (name: string, body = "{}") => {
      const headers = [["authorization", `Bearer ${secret}`] as const];
      const response = await sendRaw(door.toolgate.baseUrl, { target: `/api/v1/tools/${name}`, headers, body });
      shapes.push(shapeOf(response as RawResponse));
    };
    for (const name of ["unreleased", "made_async", "deleted", "unlisted", "nowhere", "", "a%2Fb", "%00", "%zz"])
      await ask(name);
    for (const body of ["", "{", "x".repeat(2 * MIB)]) await ask("unreleased", body);
    const lock = async (locked: boolean) => {
      await pool.query("update key_auth.workspaces set locked = $2 where code = $1", [account.workspace, locked]);
      // Raises the workspace's epoch.
      await saveTool("unlisted", tool);
    };
    await lock(true);
    for (const body of ["{}", "{", "x".repeat(2 * MIB)]) await ask("locked", body);
    await lock(false);
    expect(shapes[0]).toMatchObject({ status: 403, text: '{"success":false,"error":"Tool nicht verfuegbar"}' });
    for (const shape of shapes) expect(shape).toEqual(shapes[0]);
    await ask("locked");
    expect(shapes.at(-1)?.status).toBe(200);
  });
});
