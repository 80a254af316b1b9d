import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as v from "valibot";
import { LoginPage } from "../pages/login/login.tsx";
import { Search as ReferenceSearch } from "../routes/reference.ts";
import { text } from "../routes/search.ts";
import { root } from "./root.ts";

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: v.object({ next: text }),
  component: () => <LoginPage next={login.useSearch().next} />,
});

/** For holders of a key. */
const reference = createRoute({
  getParentRoute: () => root,
  path: "/reference",
  validateSearch: ReferenceSearch,
  component: lazyRouteComponent(() => import("../pages/reference/reference-page.tsx"), "ReferencePage"),
});

const join = createRoute({
  getParentRoute: () => root,
  path: "/join",
  component: lazyRouteComponent(() => import("../pages/login/join-page.tsx"), "JoinPage"),
});

const newPassword = createRoute({
  getParentRoute: () => root,
  path: "/new-password",
  component: lazyRouteComponent(() => import("../pages/login/new-password-page.tsx"), "NewPasswordPage"),
});

/** Those that need no login. */
export const openPages = [login, reference, join, newPassword];
