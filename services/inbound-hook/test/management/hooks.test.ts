import { readFile } from "node:fs/promises";
import { Code } from "@connectrpc/connect";
import { HookFormat, HookPreset } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { refusal } from "@toolgate/testbed/rpc-errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hashSegment, sealingContext } from "../../src/domain/hook.ts";
import { type CreateHookInit, type HookRig, PUBLIC_URL, startHookRig, type TestWorkspace } from "../hook-rig.ts";

const PROVIDER_SECRET = "provider-secret-1";
const TIMED = [HookFormat.NATIVE, HookFormat.PROCESSOR, HookFormat.STANDARD_WEBHOOKS];
const PROVIDED = [HookFormat.PROCESSOR, HookFormat.SHOP, HookFormat.GITHUB];
const FORMATS = [...TIMED, HookFormat.SHOP, HookFormat.GITHUB, HookFormat.BEARER];
/** Unicode characters count, not UTF-16 units. */
const LONG_NAME = "😀".repeat(200);

let rig: HookRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startHookRig({ instances: [["receiver"]] });
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const secretFor = (format: HookFormat) => (PROVIDED.includes(format) ? { providerSecret: PROVIDER_SECRET } : {});
const mapping = (pointers: Record<string, string>) => ({ source: { case: "mapping", value: { pointers } } }) as const;
const stored = async (id: bigint) =>
  (await rig.pool.query("select * from inbound_hook.hook where id = $1", [id])).rows[0];
const openSecret = async (id: bigint) => {
  const { sealingKeys } = rig.config.receiver ?? { sealingKeys: [] };
  return createSecretBox({ keys: sealingKeys }).open((await stored(id)).secret, sealingContext(Number(id)));
};

test("[IN-2] [WMGMT-6] a new hook has its name, format and target, and the list shows it", async () => {
  const own = await rig.newWorkspace();
  const { hook } = await own.createHook({ name: "  Orders of the shop  " });
  expect(hook).toMatchObject({
    name: "Orders of the shop",
    format: HookFormat.NATIVE,
    preset: HookPreset.UNSPECIFIED,
    target: { target: { case: "tool", value: "echo" } },
    active: true,
    deliveriesLast24h: 0,
    refusedInARow: 0,
  });
  expect((await own.hooks.listHooks({})).hooks).toEqual([hook]);
  expect((await own.hooks.getHook({ hookId: hook?.id ?? 0n })).hook).toEqual(hook);
});

test("[IN-3] [IN-4] URL and secret are only in the response to creation, and only a hash of the URL is stored", async () => {
  const own = await rig.newWorkspace();
  const { id, url, secret, hook } = await own.createHook();
  expect(url).toMatch(/^https:\/\/gate\.example\/api\/v1\/hooks\/hk_[\w-]{32}$/);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const segment = url.slice(`${PUBLIC_URL}/api/v1/hooks/`.length);
  expect(hook?.shownUrl).toBe(`${PUBLIC_URL}/api/v1/hooks/${segment.slice(0, 7)}…${segment.slice(-4)}`);
  const later = [
    await own.hooks.listHooks({}),
    await own.hooks.getHook({ hookId: id }),
    await own.hooks.updateHook({ hookId: id, active: true }),
  ];
  const shown = JSON.stringify(later, (_, value) => (typeof value === "bigint" ? String(value) : value));
  expect(shown).not.toContain(segment);
  expect(shown).not.toContain("whsec_");
  const row = await stored(id);
  expect(row.url_hash).toEqual(hashSegment(segment));
  expect(JSON.stringify(row)).not.toContain(segment.slice(8, -4));
  expect(row.secret.includes(secret.slice(6))).toBe(false);
  expect(await openSecret(id)).toBe(secret);
});

test("[IN-5] [AUTH-22] a hook has one of the formats; there is none without a secret", async () => {
  for (const format of FORMATS) {
    const { id } = await workspace.createHook({ format, ...secretFor(format) });
    expect((await openSecret(id)).length).toBeGreaterThanOrEqual(8);
  }
  for (const format of [HookFormat.UNSPECIFIED, 7 as HookFormat]) {
    await expect(workspace.createHook({ format })).rejects.toEqual(refusal(Code.InvalidArgument, /^format: /));
  }
});

test("[AUTH-20] the provider's secret is required where the provider dictates it, and not shown again", async () => {
  for (const format of PROVIDED) {
    await expect(workspace.createHook({ format })).rejects.toEqual(refusal(Code.InvalidArgument, /^provider_secret: /));
    const { id, secret } = await workspace.createHook({ format, providerSecret: PROVIDER_SECRET });
    expect([secret, await openSecret(id)]).toEqual(["", PROVIDER_SECRET]);
  }
  for (const providerSecret of ["1234567", "x".repeat(513)]) {
    const refused = expect(workspace.createHook({ format: HookFormat.SHOP, providerSecret })).rejects;
    await refused.toEqual(refusal(Code.InvalidArgument, /^provider_secret: 8 to 512 characters$/));
  }
  for (const providerSecret of ["12345678", "x".repeat(512)]) {
    await workspace.createHook({ format: HookFormat.SHOP, providerSecret });
  }
});

test("[AUTH-21] the service generates the secret of the other formats", async () => {
  for (const format of [HookFormat.NATIVE, HookFormat.BEARER]) {
    expect((await workspace.createHook({ format })).secret).toMatch(/^whsec_/);
    const refused = expect(workspace.createHook({ format, providerSecret: PROVIDER_SECRET })).rejects;
    await refused.toEqual(refusal(Code.InvalidArgument, /^provider_secret: /));
  }
  const format = HookFormat.STANDARD_WEBHOOKS;
  expect((await workspace.createHook({ format })).secret).toMatch(/^whsec_/);
  const ofBytes = (bytes: number) => `whsec_${Buffer.alloc(bytes, 5).toString("base64")}`;
  for (const bytes of [24, 64]) {
    const providerSecret = ofBytes(bytes);
    const own = await workspace.createHook({ format, providerSecret });
    expect([own.secret, await openSecret(own.id)]).toEqual(["", providerSecret]);
  }
  for (const providerSecret of ["not base64", "whsec_AA==", ofBytes(23), ofBytes(65)]) {
    const refused = expect(workspace.createHook({ format, providerSecret })).rejects;
    await refused.toEqual(refusal(Code.InvalidArgument, /^provider_secret: must be whsec_ .* 24 to 64 bytes$/));
  }
});

test("[IN-2] [IN-6] [IN-8] [AUTH-20] a hook with a bad field is refused", async () => {
  const cases: [string, CreateHookInit][] = [
    ["name", { name: "" }],
    ["name", { name: "   " }],
    ["name", { name: `${LONG_NAME}x` }],
    ["name", { name: "two\nlines" }],
    ["limit", { limit: 0 }],
    ["limit", { limit: 10_001 }],
    ["tolerance_seconds", { toleranceSeconds: 59 }],
    ["tolerance_seconds", { toleranceSeconds: 3_601 }],
    ["preset", { preset: HookPreset.STRIPE }],
    ["preset", { preset: 9 as HookPreset }],
    ["preset", { format: HookFormat.SHOP, providerSecret: PROVIDER_SECRET, preset: HookPreset.STRIPE }],
    ["target", { target: {} }],
    ["target.tool", { target: { target: { case: "tool", value: "" } } }],
    ["target.tool", { target: { target: { case: "tool", value: "a\0" } } }],
  ];
  for (const [field, request] of cases) {
    const refused = refusal(Code.InvalidArgument, new RegExp(`^${field}: `));
    await expect(workspace.createHook(request), JSON.stringify(request)).rejects.toEqual(refused);
  }
});

test("[IN-9] [AUTH-3] the defaults are 60 calls per minute and 300 s; only formats with a time have a tolerance", async () => {
  for (const format of FORMATS) {
    const { hook } = await workspace.createHook({ format, ...secretFor(format) });
    const timed = TIMED.includes(format);
    expect(hook).toMatchObject({ limit: 60, toleranceSeconds: timed ? 300 : 0 });
    const chosen = workspace.createHook({ format, ...secretFor(format), toleranceSeconds: 60, limit: 10_000 });
    if (timed) expect((await chosen).hook).toMatchObject({ limit: 10_000, toleranceSeconds: 60 });
    else await expect(chosen).rejects.toEqual(refusal(Code.InvalidArgument, /^tolerance_seconds: /));
  }
});

test("[IN-7] a mapping names declared arguments and JSON Pointers", async () => {
  const good = mapping({ text: "/order/na~0me", count: "/a~1b/0", payload: "" });
  expect((await workspace.createHook({ arguments: good })).hook?.arguments).toMatchObject(good);
  const tooMany = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`a${index}`, ""]));
  for (const [pointers, reason] of [
    [{}, /at least one/],
    [{ unknown: "/a" }, /"unknown" is not declared/],
    [{ _webhook: "/a" }, /underscore/],
    [{ _own: "/a" }, /underscore/],
    [{ "": "/a" }, /not a name/],
    [{ text: "a" }, /JSON Pointer/],
    [{ text: "/a~2" }, /JSON Pointer/],
    [{ text: "/a~" }, /JSON Pointer/],
    [{ text: `/${"a".repeat(1_000)}` }, /1000 characters/],
    [{ text: "/a\0" }, /"text" .* NUL/],
    [{ "a\0": "/a" }, /not a name/],
    [tooMany, /at most 100/],
  ] as const) {
    const refused = expect(workspace.createHook({ arguments: mapping(pointers) })).rejects;
    await refused.toEqual(refusal(Code.InvalidArgument, reason));
  }
});

test("[IN-39] [IN-40] payload needs an argument of that name and of type object", async () => {
  const handler = "export default () => ({});";
  const declaring = (properties: Record<string, { type: string }>) => ({
    inbound_hook: true,
    handler,
    parameters: { type: "object", properties },
  });
  await workspace.saveTool("takes-object", declaring({ payload: { type: "object" }, text: { type: "string" } }));
  await workspace.saveTool("takes-text", declaring({ payload: { type: "string" } }));
  await workspace.saveTool("takes-nothing", declaring({}));
  const payload = { source: { case: "payload", value: { pointers: {} } } } as const;
  const target = (value: string) => ({ target: { target: { case: "tool", value } } }) as const;
  for (const tool of ["takes-text", "takes-nothing"]) {
    const refused = expect(workspace.createHook({ ...target(tool), arguments: payload })).rejects;
    await refused.toEqual(refusal(Code.InvalidArgument, /payload of type object/));
    expect((await workspace.createHook(target(tool))).hook?.arguments?.source.case).toBe("fields");
  }
  const withMore = { source: { case: "payload", value: { pointers: { text: "/a" } } } } as const;
  const made = await workspace.createHook({ ...target("takes-object"), arguments: withMore });
  expect(made.hook?.arguments).toMatchObject(withMore);
  // Preselected, because the tool takes it.
  expect((await workspace.createHook(target("takes-object"))).hook?.arguments?.source.case).toBe("payload");
});

test("[AUTH-19] the admins' page and the API recommend a signed format over bearer", async () => {
  const textOf = (path: string) => readFile(new URL(`../../../../${path}`, import.meta.url), "utf8");
  expect(await textOf("docs/admins.md")).toMatch(/Prefer a signed format to `HOOK_FORMAT_BEARER`/);
  expect(await textOf("proto/toolgate/inbound_hook/v1/hook.proto")).toMatch(/prefer a signed format/);
});

test("[IN-46] [IN-48] [IN-49] [IN-50] [IN-51] a tool that is not released for hooks, or is another workspace's, is refused as a target", async () => {
  const handler = "export default () => ({});";
  const refused: Record<string, object> = {
    closed: {},
    public: { public_api: true, inbound_hook_write: true },
    truthy: { inbound_hook: 1, external_api: "yes" },
    asynchronous: { inbound_hook: true, external_api: true, async: true },
  };
  for (const [name, flags] of Object.entries(refused)) await workspace.saveTool(name, { ...flags, handler });
  await (await rig.newWorkspace()).saveTool("theirs", { inbound_hook: true, handler });
  for (const name of [...Object.keys(refused), "theirs", "missing", "emitWebhookEvent"]) {
    const target = { target: { case: "tool", value: name } } as const;
    await expect(workspace.createHook({ target })).rejects.toEqual(
      refusal(Code.FailedPrecondition, /not released for hooks/),
    );
  }
  await workspace.saveTool("by-key", { external_api: true, handler });
  await workspace.createHook({ target: { target: { case: "tool", value: "by-key" } } });
});

/** Copies a hook. */
async function copyHook(id: bigint, copies: number): Promise<void> {
  const copy = `insert into inbound_hook.hook
    select (jsonb_populate_record(h, jsonb_build_object('id', h.id + n, 'url_hash', sha256((h.id + n)::text::bytea)))).*
    from inbound_hook.hook h, generate_series(1, $2::int) n where h.id = $1`;
  await rig.pool.query(copy, [id, copies]);
}

test("[WMGMT-6] a workspace creates at most 1,000 hooks in 24 hours, deleted ones included", async () => {
  const own = await rig.newWorkspace();
  const { id } = await own.createHook();
  await own.hooks.deleteHook({ hookId: id });
  await copyHook(id, 999);
  await expect(own.createHook()).rejects.toEqual(refusal(Code.ResourceExhausted, /at most 1000 hooks in 24 hours/));
  rig.clock.advance(24 * 3_600_000);
  await own.createHook();
});

test("[WMGMT-6] a workspace has at most 100 hooks, also when they are created at the same time", async () => {
  const own = await rig.newWorkspace();
  await copyHook((await own.createHook()).id, 95);
  const made = await Promise.allSettled(Array.from({ length: 8 }, () => own.createHook()));
  const refused = made.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  expect(refused.map(({ reason }) => reason)).toEqual(
    Array.from({ length: 4 }, () => refusal(Code.ResourceExhausted, /at most 100 hooks/)),
  );
  const { hooks } = await own.hooks.listHooks({});
  expect(hooks).toHaveLength(100);
  await own.hooks.deleteHook({ hookId: hooks[0]?.id ?? 0n });
  await own.createHook();
});
