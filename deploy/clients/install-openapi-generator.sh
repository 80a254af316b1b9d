#!/bin/sh
# Fetches the generator that is written in Java; without Java and Maven, `make verify PART=clients` does without it.
command -v java >/dev/null && command -v mvn >/dev/null || exit 0
cd "$(dirname "$0")/node_modules" || exit 1
version=7.25.0
sha256=41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae
folder=.openapi-generator
jar=$folder/openapi-generator-cli.jar

# The older tools of macOS have another name.
is_right() {
  [ -f "$jar" ] && [ "$({ sha256sum "$jar" 2>/dev/null || shasum -a 256 "$jar"; } | cut -d " " -f 1)" = "$sha256" ]
}

is_right && exit 0
rm -rf "$folder"
mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
  "-Dartifact=org.openapitools:openapi-generator-cli:$version" "-DoutputDirectory=$PWD/$folder" \
  -Dmdep.stripVersion=true >/dev/null 2>&1
is_right && exit 0
rm -rf "$folder"
echo "skipped openapi-generator: Maven could not fetch its version $version, or not the file that is expected"
