//go:build unix

package postgres

import (
	"net/url"
	"path/filepath"
)

// Setting adds a setting of the server, as name=value.
func Setting(value string) Option { return func(s *settings) { s.more = append(s.more, value) } }

// ForStandbys makes a server that others can follow; see StandbyOf.
func ForStandbys() Option {
	return func(s *settings) {
		s.keep = "keep"
		s.more = append(s.more, "wal_level=replica", "wal_keep_size=1GB")
	}
}

// StandbyOf makes a server that follows the primary, which was started with ForStandbys, under an application name.
func StandbyOf(primary *Server, name string) Option {
	return func(s *settings) {
		s.base = filepath.Join(primary.directory, "base")
		s.more = append(s.more, "hot_standby=on", "wal_retrieve_retry_interval=100ms",
			"primary_conninfo=host=127.0.0.1 port="+portOf(primary)+" user=postgres application_name="+name)
	}
}

func portOf(server *Server) string {
	parsed, err := url.Parse(server.url)
	if err != nil {
		return ""
	}
	return parsed.Port()
}
