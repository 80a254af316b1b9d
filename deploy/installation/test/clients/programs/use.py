import json, os
from openapi_client import ApiClient, ApiException, Configuration, DefaultApi, GreetArgs, GreetRequest, FindOrdersRequest

api = DefaultApi(ApiClient(Configuration(access_token=os.environ["SERVICE_API_KEY"])))
greeted = api.greet(GreetRequest(args=GreetArgs(name="Ada")))
found = api.find_orders(FindOrdersRequest())
try:
    # The client itself would refuse the long name.
    api.greet(GreetRequest.model_construct(args=GreetArgs.model_construct(name="x" * 30)))
except ApiException as refused:
    body = refused.data.to_dict()
    print(json.dumps({"greeted": greeted.to_dict(), "found": found, "status": refused.status, "refused": body}))
