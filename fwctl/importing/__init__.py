"""What is there already, written as a spec: live deployments and firectl lines of scripts."""
