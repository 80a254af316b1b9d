import { createRoute, redirect } from "@tanstack/react-router";
import { Shell } from "../pages/shell/shell.tsx";
import { loadSession, sessionStore } from "../rpc/session.ts";
import { root } from "./root.ts";

export const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: async ({ location }) => {
    if (sessionStore.get() ?? (await loadSession())) return;
    throw redirect({ to: "/login", search: { next: `/manage${location.href}` } });
  },
  component: Shell,
});
