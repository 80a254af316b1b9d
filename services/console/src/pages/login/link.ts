import { useLocation } from "@tanstack/react-router";
import { logIn } from "../../rpc/session.ts";

/** The token of a link: in the fragment, because browsers send it neither to the server nor to other sites. */
export function useTokenOfLink(): string {
  return useLocation({ select: ({ hash }) => hash });
}

/** Logs in with a password that has just been set, and leaves the page of the link for ever. */
export async function enter(email: string, password: string, workspace?: string): Promise<void> {
  const refused = await logIn(email, password);
  const search = workspace === undefined ? "" : `?workspace=${encodeURIComponent(workspace)}`;
  location.replace(refused ? "/manage/login" : `/manage/${search}`);
}
