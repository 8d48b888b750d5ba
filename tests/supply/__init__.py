"""What a release is and what it is made of: what it installs and bundles, their licenses and known vulnerabilities."""
