import { createRootRoute, retainSearchParams } from "@tanstack/react-router";
import * as v from "valibot";
import { NotFound } from "../pages/shell/messages.tsx";
import { text } from "../routes/search.ts";

export const root = createRootRoute({
  validateSearch: v.object({ workspace: text }),
  search: { middlewares: [retainSearchParams(["workspace"])] },
  notFoundComponent: NotFound,
});
