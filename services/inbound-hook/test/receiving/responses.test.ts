import { HookFormat } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { lockGroup } from "@toolgate/testbed/locked-group";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startReceiveRig();
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN = `hk_${"x".repeat(32)}`;

test("[IN-1] [IN-10] [IN-11] [IN-22] [IN-23] [IN-24] [IN-32] [IN-35] a signed call without any API key is stored once, queued and gets 202 before its target runs", async () => {
  const hook = await workspace.createHook();
  const body = newBody();
  const own = { "content-type": "application/json", "x-service-hop": "1", cookie: "c", authorization: "Bearer x" };
  const ids = { "x-service-delivery": "their id", "x-request-id": "r" };
  const call = { body, headers: { ...own, ...ids }, at: Math.floor(Date.now() / 1000) };
  const response = await rig.sendSigned(hook, call);
  expect(response.status).toBe(202);
  const { delivery_id: id } = response.body as { delivery_id: string };
  expect(id).toMatch(UUID);
  expect(response.text).toBe(`{"success":true,"accepted":true,"delivery_id":"${id}"}`);
  expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
  const [stored, ...others] = await rig.deliveriesOf(hook.id);
  expect(others).toEqual([]);
  expect(stored).toMatchObject({
    id,
    status: "waiting",
    content_type: "application/json",
    request_id: response.headers["x-request-id"],
    workspace_id: workspace.id,
    external_id: "their id",
    // Never a signature or a token.
    headers: ids,
  });
  expect(Number.parseInt(id.replace("-", "").slice(0, 12), 16)).toBe(stored?.created_at.getTime());
  expect(stored?.body.toString("utf8")).toBe(body);
  expect(await rig.queued(hook.id)).toEqual([id]);

  // [IN-23] [IN-24] A repeat gets the id of the original, and nothing more is stored or queued.
  const { status, text } = await rig.sendSigned(hook, call);
  expect({ status, text }).toEqual({ status: 200, text: `{"success":true,"duplicate":true,"delivery_id":"${id}"}` });
  expect((await rig.deliveriesOf(hook.id)).length).toBe(1);
  expect(await rig.queued(hook.id)).toEqual([id]);
});

test("[IN-45] the workspace comes from the hook, whatever the request names", async () => {
  const other = await rig.newWorkspace();
  const hook = await workspace.createHook();
  const body = JSON.stringify({ workspace: other.code, workspace_id: other.id });
  const headers = { "x-workspace": other.code, "toolgate-principal": other.id };
  await rig.sendSigned(hook, { body, headers, segment: `${hook.url.split("/").at(-1)}?workspace=${other.code}` });
  expect(await rig.deliveriesOf(hook.id)).toMatchObject([{ workspace_id: workspace.id }]);
});

describe("a hook that is not there", () => {
  const shapeOf = async (url: string, request = {}) => {
    const { status, headers, text } = await rig.send(url, request);
    return { status, text, names: Object.keys(headers).toSorted(), type: headers["content-type"] };
  };

  test("[IN-16] [IN-17] [IN-18] unknown, deactivated and deleted hooks cannot be told apart", async () => {
    const [inactive, deleted] = [await workspace.createHook(), await workspace.createHook()];
    await rig.sendSigned(inactive);
    await workspace.hooks.updateHook({ hookId: inactive.id, active: false });
    await workspace.hooks.deleteHook({ hookId: deleted.id });
    const unknown = await shapeOf("", { segment: UNKNOWN });
    expect(unknown).toMatchObject({ status: 404, text: '{"success":false,"error":"Nicht gefunden"}' });
    for (const { url, secret } of [inactive, deleted]) {
      expect(await shapeOf(url)).toEqual(unknown);
      expect(await rig.sendSigned({ url, secret })).toMatchObject({ status: 404, text: unknown.text });
    }
    for (const segment of ["", "hk_", "hk", "x", "hk_ä", `${UNKNOWN}x`, "hk_../x", "hk_%00", `hk_${"a".repeat(70)}`]) {
      expect(await shapeOf("", { segment: encodeURI(segment).replace("%2500", "%00") })).toEqual(unknown);
    }
  });

  test("[IN-3] [IN-16] the path matches exactly: no slash at the end, no other case", async () => {
    const hook = await workspace.createHook();
    const segment = hook.url.split("/").at(-1) ?? "";
    const path = `/api/v1/hooks/${segment}`;
    for (const other of [`${path}/`, path.replace("hk_", "HK_"), path.replace("/api", "/API"), `/${path}`, `${path}//`])
      expect(await rig.sendSigned(hook, { path: other })).toMatchObject({ status: 404 });
    const swapped = [...segment].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");
    expect(await rig.sendSigned(hook, { segment: `hk_${swapped.slice(3)}` })).toMatchObject({ status: 404 });
    expect(await rig.sendSigned(hook, { path })).toMatchObject({ status: 202 });
  });
});

test("[IN-15] methods other than POST get 405 with Allow and without CORS, for any hook", async () => {
  const hook = await workspace.createHook();
  await workspace.hooks.updateHook({ hookId: hook.id, active: false });
  const headers = { origin: "https://a.example", "access-control-request-method": "POST", "x-service-hop": "9" };
  for (const method of ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "QUERY"]) {
    for (const segment of [hook.url.split("/").at(-1) ?? "", UNKNOWN, "x"]) {
      const response = await rig.send(hook.url, { method, segment, headers });
      expect(response.status).toBe(405);
      expect(response.headers.allow).toBe("POST");
      expect(response.text).toBe(method === "HEAD" ? "" : '{"success":false,"error":"Methode nicht erlaubt"}');
      expect(Object.keys(response.headers).filter((name) => /access-control|ratelimit/.test(name))).toEqual([]);
    }
  }
});

test("[IN-26] [IN-27] [IN-31] missing and wrong credentials get the same 401, which names no check", async () => {
  const other = await workspace.createHook();
  for (const format of [HookFormat.NATIVE, HookFormat.BEARER]) {
    const hook = await workspace.createHook({ format });
    const wrong = [
      {},
      { "x-service-signature": "t=1,v1=00" },
      { authorization: "Bearer x" },
      { authorization: `Basic ${hook.secret}` },
    ];
    const responses = [];
    for (const headers of wrong) responses.push(await rig.send(hook.url, { headers }));
    responses.push(await rig.sendSigned({ url: hook.url, secret: other.secret }));
    for (const { status, text, headers } of responses) {
      expect({ status, text }).toEqual({ status: 401, text: '{"success":false,"error":"Nicht autorisiert"}' });
      expect(headers["www-authenticate"]).toBe("Bearer");
      expect(Object.keys(headers).toSorted()).toEqual(Object.keys(responses[0]?.headers ?? {}).toSorted());
    }
    expect(await rig.deliveriesOf(hook.id)).toEqual([]);
    expect(await rig.keysOf(hook.id)).toBe(0);
  }
});

test("[IN-22] while the queue of one workspace is locked, its calls get 503 and those of others are accepted", async () => {
  const other = await rig.newWorkspace();
  const [stuck, free] = [await workspace.createHook(), await other.createHook()];
  for (const hook of [stuck, free]) expect((await rig.sendSigned(hook, { body: newBody() })).status).toBe(202);
  const late = newBody();
  await using lock = await lockGroup(rig.pool, "inbound_hook.tool_queue", workspace.id);
  const refused = [late, newBody(), newBody()].map((body) => rig.sendSigned(stuck, { body, once: true }));
  for (let call = 0; call < 10; call += 1)
    expect((await rig.sendSigned(free, { body: newBody(), once: true })).status).toBe(202);
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([503, 503, 503]);
  await lock.disposeAsync();
  // What was refused is not stored after all, and a repeat is accepted as new.
  expect(await rig.deliveriesOf(stuck.id)).toHaveLength(1);
  expect((await rig.sendSigned(stuck, { body: late })).status).toBe(202);
});
