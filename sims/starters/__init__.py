"""Starting files of policies, one a decision point: `holdfast new policy POINT` prints them."""
