import { Link } from "@tanstack/react-router";
import type { Endpoint } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import buttonStyles from "../../ui/button.module.css";
import { Button } from "../../ui/button.tsx";

export type DialogName = "edit" | "test" | "rotate" | "deactivate" | "activate" | "delete";

export function EndpointActions({ of, onDialog }: { of: Endpoint; onDialog: (dialog: DialogName) => void }) {
  return (
    <>
      {!of.active && (
        <Button kind="primary" onClick={() => onDialog("activate")}>
          {ENDPOINTS.activate}
        </Button>
      )}
      <Button onClick={() => onDialog("test")}>{ENDPOINTS.sendTest}</Button>
      <Link to="/webhooks/deliveries" search={{ endpoint: String(of.id) }} className={buttonStyles.button}>
        {ENDPOINTS.deliveries}
      </Link>
      <Button onClick={() => onDialog("edit")}>{ENDPOINTS.edit}</Button>
      <Button onClick={() => onDialog("rotate")}>{ENDPOINTS.rotate}</Button>
      {of.active && <Button onClick={() => onDialog("deactivate")}>{ENDPOINTS.deactivate}</Button>}
      <Button kind="danger" onClick={() => onDialog("delete")}>
        {ENDPOINTS.delete}
      </Button>
    </>
  );
}
