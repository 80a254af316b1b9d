import { createRouter } from "@tanstack/react-router";
import { Failed } from "../pages/shell/messages.tsx";
import { parseSearch, stringifySearch } from "../routes/search.ts";
import { managerPages } from "./manager-pages.tsx";
import { memberPages } from "./member-pages.tsx";
import { openPages } from "./open-pages.tsx";
import { root } from "./root.ts";
import { shell } from "./shell.ts";

export const router = createRouter({
  basepath: "/manage",
  routeTree: root.addChildren([...openPages, shell.addChildren([...memberPages, managerPages])]),
  parseSearch,
  stringifySearch,
  defaultErrorComponent: Failed,
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
