import type { ModelError } from "../models/model.ts";

/** Which setting of a model is wrong, and what to tell the user. */
export interface ModelFault {
  setting: "address" | "api-key" | "model" | "tools" | "other";
  message: string;
}

/** What an error of a model says about its settings. Servers differ, so the status counts more than the words. */
export function faultOf({ kind, message, response }: Pick<ModelError, "kind" | "message" | "response">): ModelFault {
  const said = sentence(message);
  if (response) return faultOfResponse(response, said);
  if (kind === "unreachable") return { setting: "address", message: `There is no connection: ${message}.` };
  if (kind === "timeout") return { setting: "address", message: said };
  if (kind === "invalid" || kind === "cut")
    return { setting: "address", message: "Something answers at this address, but not with a stream of this API." };
  return { setting: "other", message: said };
}

function faultOfResponse(
  { status, code = "" }: { status: number; code: string | undefined },
  said: string,
): ModelFault {
  if (status === 401 || status === 403 || /api_?key|authentication|permission/i.test(code))
    return { setting: "api-key", message: `The API key is missing, wrong, or may not use this model: ${said}` };
  // Not when a server is overloaded, which some also say of the model.
  if (status < 500 && status !== 429 && /model/i.test(code))
    return { setting: "model", message: `The server does not know a model of this name: ${said}` };
  if (status === 404 || status === 405 || (status >= 300 && status < 400))
    return {
      setting: "address",
      message: `This API is not at this address: ${said} The address ends with the version.`,
    };
  return { setting: "other", message: said };
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
