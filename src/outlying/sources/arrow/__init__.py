"""Files that Arrow reads: IPC (Feather), ORC, Parquet on other machines; and tables of lakes."""
