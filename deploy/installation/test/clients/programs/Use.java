import java.util.Map;
import org.openapitools.client.*;
import org.openapitools.client.api.DefaultApi;
import org.openapitools.client.model.*;

public class Use {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    // This library of the generator leaves the key to its user.
    String key = "Bearer " + System.getenv("SERVICE_API_KEY");
    client.setRequestInterceptor(request -> request.header("Authorization", key));
    DefaultApi api = new DefaultApi(client);
    GreetResult greeted = api.greet(new GreetRequest().args(new GreetArgs().name("Ada")), null);
    Map<String, Object> found = api.findOrders(new FindOrdersRequest(), null);
    try {
      api.greet(new GreetRequest().args(new GreetArgs().name("x".repeat(30))), null);
    } catch (ApiException refused) {
      InvalidCall body = client.getObjectMapper().readValue(refused.getResponseBody(), InvalidCall.class);
      Map<String, Object> seen = Map.of("greeted", greeted, "found", found, "status", refused.getCode(), "refused", body);
      System.out.println(client.getObjectMapper().writeValueAsString(seen));
    }
  }
}
