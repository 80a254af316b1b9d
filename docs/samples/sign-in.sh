# Signs in to the installation that `make run` started here, for the examples in docs/.

# run_json .base_url: a value of .data/run.json
run_json() { node -p "JSON.parse(require('fs').readFileSync('.data/run.json'))$1"; }
# manage … | member .key.id: a value of the response
member() { node -p "JSON.parse(require('fs').readFileSync(0))$1"; }
# manage <service>/<RPC> <JSON>: calls a management RPC and prints its response
manage() { curl -s "$BASE/toolgate.$1" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d "$2"; echo; }

BASE=$(run_json .base_url)
LOGIN="\"email\":\"$(run_json .admin.email)\",\"password\":\"$(run_json .admin.password)\""
TOKEN=$(manage key_auth.v1.SessionService/Login "{$LOGIN}" | member .token)
