import { getRouteApi } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { type Session, sessionStore } from "./session.ts";

const root = getRouteApi("__root__");

export function useSession(): Session {
  const session = useSyncExternalStore(sessionStore.subscribe, sessionStore.get);
  if (!session) throw new Error("this page needs a session");
  return session;
}

export function useSessionEnded(): boolean {
  return useSyncExternalStore(sessionStore.subscribe, sessionStore.hasEnded);
}

/** The workspace that the page shows: the one in the URL, otherwise the user's first. */
export function useWorkspace(): string {
  const { workspace } = root.useSearch();
  const { memberships } = useSession();
  return workspace ?? memberships[0]?.workspace ?? "";
}

export function useRole(): Session["memberships"][number]["role"] | undefined {
  const workspace = useWorkspace();
  return useSession().memberships.find((membership) => membership.workspace === workspace)?.role;
}

/** Managers and admins may use every page; members only read tools. */
export function useCanManage(): boolean {
  const role = useRole();
  return role === "manager" || role === "admin";
}
