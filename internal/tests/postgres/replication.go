//go:build unix

package postgres

import (
	"net/url"
	"path/filepath"
)

// Setting adds a server setting, in the form name=value.
func Setting(value string) Option { return func(s *settings) { s.more = append(s.more, value) } }

// ForStandbys configures a server as a primary of standbys. See StandbyOf.
func ForStandbys() Option {
	return func(s *settings) {
		s.keep = "keep"
		s.more = append(s.more, "wal_level=replica", "wal_keep_size=1GB")
	}
}

// StandbyOf configures a server as a standby of primary, with name as its application_name. The primary needs
// ForStandbys.
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
