"""What a merge did, place by place, looked up in its versions and in its result afterwards."""
