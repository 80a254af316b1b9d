import { ModelFault } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import type { ModelError } from "../models/model.ts";

/** Which setting of a model is wrong, and what to tell the user. */
export interface FaultOfModel {
  fault: ModelFault;
  error: string;
}

/** What an error of a model says about its settings. Servers differ, so the status counts more than the words. */
export function faultOf({ kind, message, response }: Pick<ModelError, "kind" | "message" | "response">): FaultOfModel {
  const said = sentence(message);
  if (response) return faultOfResponse(response, said);
  if (kind === "unreachable") return { fault: ModelFault.ADDRESS, error: `There is no connection: ${message}.` };
  if (kind === "timeout") return { fault: ModelFault.ADDRESS, error: said };
  if (kind === "invalid" || kind === "cut")
    return {
      fault: ModelFault.ADDRESS,
      error: "Something answers at this address, but not with a stream of this API.",
    };
  return { fault: ModelFault.OTHER, error: said };
}

function faultOfResponse(
  { status, code = "" }: { status: number; code: string | undefined },
  said: string,
): FaultOfModel {
  if (status === 401 || status === 403 || /api_?key|authentication|permission/i.test(code))
    return { fault: ModelFault.API_KEY, error: `The API key is missing, wrong, or may not use this model: ${said}` };
  // Not when a server is overloaded, which some also say of the model.
  if (status < 500 && status !== 429 && /model/i.test(code))
    return { fault: ModelFault.MODEL, error: `The server does not know a model of this name: ${said}` };
  if (status === 404 || status === 405 || (status >= 300 && status < 400))
    return {
      fault: ModelFault.ADDRESS,
      error: `This API is not at this address: ${said} The address ends with the version.`,
    };
  return { fault: ModelFault.OTHER, error: said };
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
