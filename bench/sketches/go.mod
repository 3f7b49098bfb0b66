module github.com/fieldtrie/fieldtrie/bench/sketches

go 1.26.0

require (
	github.com/DataDog/sketches-go v1.4.8
	github.com/fieldtrie/fieldtrie v0.0.0
	google.golang.org/protobuf v1.36.12
)

replace github.com/fieldtrie/fieldtrie => ../..
