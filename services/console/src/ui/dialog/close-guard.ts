import { createContext, type RefObject, use, useEffect } from "react";

/** Whether the dialog may close now. It is not asked of the buttons in the dialog itself. */
export type CloseGuard = (reason: string) => boolean;

/** The place at which what is in a dialog leaves its guard. */
export const CloseGuardContext = createContext<RefObject<CloseGuard | undefined> | undefined>(undefined);

/** Guards the dialog around the component, if there is one. */
export function useCloseGuard(guard: CloseGuard) {
  const place = use(CloseGuardContext);
  useEffect(() => {
    if (!place) return;
    place.current = guard;
    return () => {
      place.current = undefined;
    };
  });
}
