"""What evenkeel is made of: what it installs, what it bundles, their licenses and known vulnerabilities."""
