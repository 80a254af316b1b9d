import { spawnSync } from "node:child_process";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import type { LoggedDelivery } from "./hooks.ts";
import { type Block, blocksOf, runBlocks } from "./page.ts";

const DEMO = { workspace: "demo", email: "admin@demo.test", password: "a password" };

/** The guides in docs/hooks.md, what the calls of their blocks in sh lead to, and whether they have senders in other languages. */
const GUIDES: readonly [rules: string, section: string, outcomes: string[], hasSenders: boolean][] = [
  ["[AUTH-1] [AUTH-5]", "Native", ["accepted duplicate refused"], true],
  ["[AUTH-6] [AUTH-10]", "Payment processors and Stripe", ["", "accepted"], false],
  ["[AUTH-11] [AUTH-12]", "Shop platforms and Shopify", ["accepted"], false],
  ["[IN-22]", "GitHub", ["accepted"], false],
  ["[IN-22]", "Standard Webhooks", ["accepted"], false],
  ["[AUTH-14] [IN-20]", "Bearer", ["accepted", "accepted"], false],
];

const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** The calls that a block has made, as their responses say. */
function outcomesOf(output: string): string {
  const responses = output.matchAll(/\{"success":(?:true,"(accepted|duplicate)":true,"delivery_id"|false,"error")/g);
  return [...responses].map(([, outcome = "refused"]) => outcome).join(" ");
}

describe("the commands in the documentation of hooks", () => {
  let toolgate: RunningToolgate;
  let manage: Management;
  let blocks: Block[];
  let outputs: string[];
  const run = async (some: Block[]) => {
    const runJson = { base_url: toolgate.baseUrl, admin: { email: DEMO.email, password: DEMO.password } };
    return runBlocks(some, { folder: await temporaryFolder(), runJson });
  };
  beforeAll(async () => {
    toolgate = await runToolgate("single");
    await provision(toolgate.pool, { ...DEMO, role: "admin" });
    manage = (await loginTo(toolgate.baseUrl, DEMO)) as Management;
    blocks = (await blocksOf("hooks.md")).filter(({ language }) => hasPython || language !== "python");
    outputs = await run(blocks);
  });
  afterAll(() => toolgate[Symbol.asyncDispose]());

  const printedBy = (section: string, language: string) =>
    outputs.filter((_, index) => blocks[index]?.section === section && blocks[index]?.language === language);

  test.each(GUIDES)("%s every sender of the guide %s works", (_rules, section, outcomes, hasSenders) => {
    expect(printedBy(section, "sh").map(outcomesOf)).toEqual(outcomes);
    expect(printedBy(section, "js").map(outcomesOf)).toEqual(hasSenders ? ["accepted"] : []);
    expect(printedBy(section, "python").map(outcomesOf)).toEqual(hasSenders && hasPython ? ["accepted"] : []);
  });

  test("[IN-1] every accepted call of the guides has run its tool", async () => {
    const accepted = outputs.flatMap((output) => outcomesOf(output).match(/accepted/g) ?? []);
    const statuses = await eventually(async () => {
      const { deliveries = [] } = await manage<{ deliveries?: LoggedDelivery[] }>(
        "inbound_hook.v1.HookDeliveryService/ListHookDeliveries",
        { pageSize: 100 },
      );
      return (
        deliveries.every(({ status }) => !/WAITING|RUNNING/.test(status)) && deliveries.map(({ status }) => status)
      );
    });
    expect(statuses).toEqual(accepted.map(() => "HOOK_DELIVERY_STATUS_SUCCEEDED"));
  });

  test("[WMGMT-6] [WMGMT-7] the commands in docs/admins.md create, try, watch, edit and delete a hook", async () => {
    const [signIn] = await blocksOf("admins.md", ["Sign in"]);
    const printed = (await run([signIn as Block, ...(await blocksOf("admins.md", ["Incoming hooks"]))])).join("\n");
    expect(outcomesOf(printed)).toBe("accepted");
    expect(printed).not.toMatch(/"code":"[a-z_]+"/);
    expect(printed).toMatch(/"delivery":\{"id":/);
  });

  test("[MGMT] the commands in docs/admins.md sign in, and invite, change and remove a member", async () => {
    const printed = (await run(await blocksOf("admins.md", ["Sign in"]))).join("\n");
    expect(printed).toContain('{"workspace":"demo","email":"grace@demo.example"}');
    expect(printed).not.toMatch(/"code":"[a-z_]+"/);
    const { members } = await manage<{ members: { email: string }[] }>("key_auth.v1.MemberService/ListMembers", {});
    expect(members.map(({ email }) => email)).toEqual([DEMO.email]);
  });
});
