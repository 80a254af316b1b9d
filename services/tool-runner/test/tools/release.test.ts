import { create } from "@bufbuild/protobuf";
import { ViolationSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

describe("the release check of a run", () => {
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    runner = await startToolRunnerRig();
    const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    const handler = "export default (args) => ({ success: true, ...args });";
    for (const released of [true, false]) {
      for (const async of [true, false]) {
        await runner.saveTool(`tool_${released}_${async}`, { external_api: released, async, parameters, handler });
      }
    }
  });
  afterAll(() => runner[Symbol.asyncDispose]());

  it("[TOOL-16] [TOOL-18] [TOOL-20] any failing check gets the same response, before the body is parsed", async () => {
    for (const released of [true, false]) {
      for (const async of [true, false]) {
        for (const listed of [true, false]) {
          const tool = `tool_${released}_${async}`;
          const opens = released && listed && !async;
          for (const body of ["not json", '{"args":{}}', '{"args":{"text":"x"}}']) {
            const { outcome, executionId } = await runner.call({ tool, listed, body });
            if (opens) expect(outcome.case).toBe(body.includes("text") ? "resultJson" : "invalidArguments");
            else expect({ outcome: outcome.case, executionId }).toEqual({ outcome: "unavailable", executionId: "" });
          }
        }
      }
    }
  });

  it("[TOOL-19] [ERR-1] a malformed body is reported only for a released tool, which does not run", async () => {
    const bodyFault = create(ViolationSchema, { field: "", rule: "body", message: "too large" });
    const ofReleased = await runner.call({ tool: "tool_true_false", args: { text: "x" }, bodyFault });
    expect(ofReleased).toMatchObject({
      executionId: "",
      outcome: { case: "invalidArguments", value: { violations: [bodyFault] } },
    });
    expect((await runner.call({ tool: "tool_false_false", bodyFault })).outcome.case).toBe("unavailable");
  });

  it("[TOOL-13] [TOOL-36] {{ is plain text in a call by key", async () => {
    const text = "{{secret:TOKEN}} {{text}}";
    expect(await runner.resultOf({ tool: "tool_true_false", args: { text } })).toMatchObject({ success: true, text });
  });
});
