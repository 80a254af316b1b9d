import { useRouter } from "@tanstack/react-router";

type Change = { open?: string | undefined; version?: number | undefined } & Record<string, unknown>;

/** Changes the search of a list page's URL. Back closes the row that was opened; other changes add nothing to the history. */
export function useSetSearch(): (change: Change) => void {
  const router = useRouter();
  const isOpen = ({ open, version }: Change) => open !== undefined || version !== undefined;
  return (change) => {
    const opens = isOpen(change) && !isOpen(router.latestLocation.search as Change);
    const search = ((before: object) => ({ ...before, ...change })) as never;
    void router.navigate({ to: ".", search, replace: !opens });
  };
}
