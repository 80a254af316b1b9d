import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestWorkspace } from "./hook-rig.ts";
import { newBody, type ReceiveRig, startReceiveRig } from "./receive-rig.ts";

let rig: ReceiveRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startReceiveRig();
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("[IN-1] [IN-22] [IN-35] a signed call without any API key is stored, queued and answered with 202", async () => {
  const hook = await workspace.createHook();
  const body = newBody();
  const headers = { "content-type": "application/json", "x-service-delivery": "d-1", "x-service-hop": "1" };
  const answer = await rig.sendSigned(hook, { body, headers });
  expect(answer.status).toBe(202);
  const { delivery_id: id } = answer.body as { delivery_id: string };
  expect(id).toMatch(UUID);
  expect(answer.text).toBe(`{"success":true,"accepted":true,"delivery_id":"${id}"}`);
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  const [stored, ...others] = await rig.deliveriesOf(hook.id);
  expect(others).toEqual([]);
  expect(stored).toMatchObject({
    id,
    external_id: "d-1",
    status: "waiting",
    content_type: "application/json",
    headers: { "x-service-delivery": "d-1" },
    request_id: answer.headers["x-request-id"],
    workspace_id: workspace.id,
  });
  expect(stored?.body.toString("utf8")).toBe(body);
  // [IN-10] The time in the id is the time of the row, which tells its partition.
  expect(Number.parseInt(id.replace("-", "").slice(0, 12), 16)).toBe(stored?.created_at.getTime());
  expect(await rig.queued(hook.id)).toEqual([id]);
});
