"""The small encoder of the embedded planner: which tasks of an inventory a request asks for."""
