module github.com/skipstone/skipstone/clients/go

go 1.24
