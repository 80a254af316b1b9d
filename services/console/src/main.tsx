import "./ui/base.css";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { Code, ConnectError } from "@connectrpc/connect";
import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./router/router.ts";
import { transport } from "./rpc/transport.ts";

const MAX_RETRIES = 2;
const RETRIED: readonly Code[] = [Code.Unavailable, Code.Unknown];

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < MAX_RETRIES && RETRIED.includes(ConnectError.from(error).code),
      staleTime: 1_000,
    },
  },
});

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <TransportProvider transport={transport}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </TransportProvider>
    </CSPProvider>
  </StrictMode>,
);
