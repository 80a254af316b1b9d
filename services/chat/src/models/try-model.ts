import { ModelFault } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { type FaultOfModel, faultOf } from "../domain/model-fault.ts";
import { type Model, ModelError, type ModelRequest } from "./model.ts";

/** Enough for a model that thinks first. */
const MAX_OUTPUT_TOKENS = 1_000;
const TOOL = {
  name: "ping",
  description: "Says that the connection works.",
  parameters: { type: "object", properties: {} },
};
const REQUEST: ModelRequest = {
  instructions: "You test a connection.",
  messages: [{ role: "user", text: "Call the tool ping, with no arguments." }],
  tools: [TOOL],
  maxOutputTokens: MAX_OUTPUT_TOKENS,
};
const NO_CALL: FaultOfModel = {
  fault: ModelFault.TOOLS,
  error: "The model answers, but does not call the tool that it is asked to call.",
};
const NO_TOOLS: FaultOfModel = {
  fault: ModelFault.TOOLS,
  error: "The model answers, but its server refuses tools.",
};

/** The gateway ends the call after 20 s, and its clock starts first: the words for a slow server must come before. */
const LIMIT_MS = 15_000;

/** Asks a model to call a tool. Undefined when it does; otherwise what is wrong. Rejects with the caller's reason. */
export async function tryModel(
  model: Model,
  caller: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<FaultOfModel | undefined> {
  const tooSlow = AbortSignal.timeout(limitMs);
  try {
    return await faultOfModel(model, AbortSignal.any([caller, tooSlow]));
  } catch (error) {
    if (caller.aborted || !tooSlow.aborted) throw error;
    return {
      fault: ModelFault.ADDRESS,
      error: `The model's server did not finish its answer in ${limitMs / 1_000} s.`,
    };
  }
}

async function faultOfModel(model: Model, signal: AbortSignal): Promise<FaultOfModel | undefined> {
  try {
    return (await callsTool(model, REQUEST, signal)) ? undefined : NO_CALL;
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const found = faultOf(error);
    const mayBeTools = found.fault === ModelFault.OTHER && error.kind === "refused";
    return mayBeTools && (await answersWithoutTools(model, signal)) ? NO_TOOLS : found;
  }
}

async function callsTool(model: Model, request: ModelRequest, signal: AbortSignal): Promise<boolean> {
  let hasCalled = false;
  for await (const event of model.stream(request, signal)) hasCalled ||= event.kind === "tool_call";
  return hasCalled;
}

async function answersWithoutTools(model: Model, signal: AbortSignal): Promise<boolean> {
  try {
    await callsTool(model, { ...REQUEST, tools: [] }, signal);
    return true;
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return false;
  }
}
