import { createRegistry, type DescFile, type DescService, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import type {
  ExtensionRequest,
  ServerReflection,
  ServerReflectionRequest,
} from "@toolgate/gen/grpc/reflection/v1/reflection_pb";
import { untilAborted } from "../every.ts";

type Request = ServerReflectionRequest["messageRequest"];

/** A request contains a name or two, and each response repeats it. */
export const MAX_REFLECTION_REQUEST_BYTES = 4096;

/**
 * gRPC's reflection protocol, through which grpcurl and similar tools learn a server's RPCs and messages. `closing` ends
 * the streams. The server must limit requests to `MAX_REFLECTION_REQUEST_BYTES`.
 */
export function reflectionService(
  services: readonly DescService[],
  closing: AbortSignal,
): ServiceImpl<typeof ServerReflection> {
  const files = withDependencies(services.map((service) => service.file));
  const index = { services, files, registry: createRegistry(...files) };
  return {
    async *serverReflectionInfo(requests) {
      for await (const request of untilAborted(requests, closing)) {
        const messageResponse = respond(request.messageRequest, index);
        yield { validHost: request.host, originalRequest: request, messageResponse };
      }
    },
  };
}

interface Index {
  services: readonly DescService[];
  files: ReadonlySet<DescFile>;
  registry: Registry;
}

function respond(request: Request, { services, files, registry }: Index) {
  switch (request.case) {
    case "listServices":
      return {
        case: "listServicesResponse" as const,
        value: { service: services.map(({ typeName }) => ({ name: typeName })) },
      };
    case "fileByFilename":
      return fileResponse([...files].find(({ proto }) => proto.name === request.value));
    case "fileContainingSymbol":
      return fileResponse(fileOfSymbol(registry, request.value));
    case "fileContainingExtension":
      return fileResponse(extensionOf(registry, request.value)?.file);
    case "allExtensionNumbersOfType":
      if (!registry.getMessage(request.value)) return errorResponse(Code.NotFound, "not found");
      return {
        case: "allExtensionNumbersResponse" as const,
        value: {
          baseTypeName: request.value,
          extensionNumber: extensionsOf(registry, request.value).map(({ number }) => number),
        },
      };
    default:
      return errorResponse(Code.InvalidArgument, "unknown request");
  }
}

/** The file of a service or type; for a method, field or value, the file of the service or type it belongs to. */
function fileOfSymbol(registry: Registry, symbol: string): DescFile | undefined {
  const owner = symbol.slice(0, symbol.lastIndexOf("."));
  return (registry.get(symbol) ?? registry.get(owner))?.file;
}

function extensionsOf(registry: Registry, typeName: string) {
  return [...registry]
    .filter((type) => type.kind === "extension")
    .filter(({ extendee }) => extendee.typeName === typeName);
}

function extensionOf(registry: Registry, { containingType, extensionNumber }: ExtensionRequest) {
  return extensionsOf(registry, containingType).find(({ number }) => number === extensionNumber);
}

function fileResponse(file: DescFile | undefined) {
  if (!file) return errorResponse(Code.NotFound, "not found");
  const fileDescriptorProto = [...withDependencies([file])].map(({ proto }) =>
    toBinary(FileDescriptorProtoSchema, proto),
  );
  return { case: "fileDescriptorResponse" as const, value: { fileDescriptorProto } };
}

function errorResponse(errorCode: Code, errorMessage: string) {
  return { case: "errorResponse" as const, value: { errorCode, errorMessage } };
}

/** The files and everything that they import, each once. */
function withDependencies(files: readonly DescFile[], found = new Set<DescFile>()): Set<DescFile> {
  for (const file of files) {
    if (found.has(file)) continue;
    found.add(file);
    withDependencies(file.dependencies, found);
  }
  return found;
}
