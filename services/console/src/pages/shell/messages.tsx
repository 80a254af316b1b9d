import type { ErrorComponentProps } from "@tanstack/react-router";
import { failureOf } from "../../rpc/errors.ts";
import { SHELL } from "../../text/en/shell.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Page } from "../../ui/page/page.tsx";

export function NoAccess() {
  return (
    <Page title={SHELL.noAccess}>
      <p>{SHELL.noAccessText}</p>
    </Page>
  );
}

export function NotFound() {
  return <Page title={SHELL.notFound}>{null}</Page>;
}

export function Failed({ error, reset }: ErrorComponentProps) {
  return (
    <Page title={SHELL.failed}>
      <FailureText failure={failureOf(error)} onRetry={reset} />
    </Page>
  );
}
