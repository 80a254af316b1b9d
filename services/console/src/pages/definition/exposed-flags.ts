import { Code, ConnectError } from "@connectrpc/connect";

const QUESTION = /^newly exposed by ([a-z_, ]+): repeat with confirm_exposure=true$/;

/** [EXPO-3] The flags for which the server refuses a save without confirmation; undefined for any other error. */
export function exposedFlags(error: unknown): string[] | undefined {
  const { code, rawMessage } = ConnectError.from(error);
  return code === Code.Aborted ? QUESTION.exec(rawMessage)?.[1]?.split(", ") : undefined;
}
