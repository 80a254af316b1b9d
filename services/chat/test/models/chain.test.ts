import { expect, test } from "vitest";
import { chainModels } from "../../src/models/chain.ts";
import { type Model, ModelError } from "../../src/models/model.ts";
import { ask, QUESTION } from "./providers.ts";

/** A model that says this, unless it is stopped, or fails after saying it. */
function model(name: string, text: string, fails = false): Model & { asked: number } {
  return {
    name,
    asked: 0,
    async *stream(_request, signal) {
      this.asked += 1;
      signal.throwIfAborted();
      if (text !== "") yield { kind: "text", text };
      if (fails) throw new ModelError("overloaded", `${name} failed`, { beforeOutput: text === "" });
    },
  };
}

test("the next model answers when one fails before its first output, and no other one is asked after it", async () => {
  const failed: string[] = [];
  const models = [model("one", "", true), model("two", "second"), model("three", "never")];
  const chain = chainModels(models, (name) => failed.push(name));
  expect(await ask(chain)).toMatchObject({ text: "second", error: undefined });
  expect(failed).toEqual(["one"]);
  const begun = [model("one", "half", true), model("two", "never")];
  const { text, error } = await ask(chainModels(begun));
  expect([text, error?.message]).toEqual(["half", "one failed"]);
  expect([...models, ...begun].map(({ asked }) => asked)).toEqual([1, 1, 0, 1, 0]);
});

test("a stop ends the chain", async () => {
  const models = [model("one", "never"), model("two", "never")];
  const stopped = AbortSignal.abort(new Error("stopped"));
  await expect(ask(chainModels(models), QUESTION, stopped)).rejects.toThrow("stopped");
  expect(models.map(({ asked }) => asked)).toEqual([1, 0]);
});

test("when all fail, the error is that of the last; a chain needs a model", async () => {
  const chain = chainModels([model("one", "", true), model("two", "", true)]);
  expect((await ask(chain)).error?.message).toBe("two failed");
  expect(() => chainModels([])).toThrow(TypeError);
});
